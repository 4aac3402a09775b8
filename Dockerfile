# Two stages: the build, and Debian's nginx and Node with the one bundled file of each command.
# BASE is Debian 13; build/image/image.sh makes one where there is no registry.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates nodejs npm && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json ./
# The secret is the machine's own list of authorities, where a proxy signs for the registry.
RUN --mount=type=secret,id=ca,target=/run/secrets/ca.crt \
    if [ -s /run/secrets/ca.crt ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca.crt; fi; npm ci --no-audit --no-fund
COPY biome.json tsconfig.json ./
COPY build ./build
COPY nginx ./nginx
COPY lua-src ./lua-src
COPY control ./control
RUN node build/build.mjs && rm dist/*.map

FROM ${BASE}
ENV DEBIAN_FRONTEND=noninteractive
# 101:82 is what existing charts run the controller as.
RUN apt-get update && apt-get install -y --no-install-recommends \
      ca-certificates tini openssl nodejs nginx libnginx-mod-http-ndk libnginx-mod-http-lua libnginx-mod-stream \
      lua-resty-core lua-resty-lrucache lua-cjson \
      libnginx-mod-http-brotli-filter libnginx-mod-http-brotli-static libnginx-mod-http-geoip2 \
      libnginx-mod-http-headers-more-filter libnginx-mod-http-modsecurity modsecurity-crs libmimalloc3 libcap2-bin \
 && setcap 'cap_net_bind_service=+ep' /usr/sbin/nginx \
 && groupadd -o -g 82 sluice && useradd -o -u 101 -g 82 -M -d /nonexistent -s /usr/sbin/nologin sluice \
 && ln -s "$(ls /usr/lib/*/libmimalloc.so.* | head -1)" /usr/local/lib/libmimalloc.so \
 && rm -rf /var/lib/apt/lists/* /var/log/nginx/* /var/cache/apt/*.bin /etc/nginx/sites-enabled/default \
 && ln -s /dev/stdout /var/log/nginx/access.log && ln -s /dev/stderr /var/log/nginx/error.log \
 && mkdir -p /etc/ingress-controller/geoip /etc/ingress-controller/ssl /usr/local/certificates \
 && chown -R 101:82 /etc/ingress-controller /var/log/nginx
COPY --from=build /src/dist /usr/local/lib/sluice
COPY build/image/sbom.mjs /tmp/sbom.mjs
COPY package-lock.json /tmp/package-lock.json
RUN node /tmp/sbom.mjs /tmp/package-lock.json > /usr/local/lib/sluice/sbom.spdx.json && rm /tmp/sbom.mjs /tmp/package-lock.json \
 && ln -s /usr/local/lib/sluice/nginx-ingress-controller.mjs /nginx-ingress-controller \
 && ln -s /usr/local/lib/sluice/dbg.mjs /dbg \
 && ln -s /usr/local/lib/sluice/wait-shutdown.mjs /wait-shutdown \
 && ln -s /usr/local/lib/sluice/kube-webhook-certgen.mjs /kube-webhook-certgen
USER 101:82
EXPOSE 80 443 8443 10254
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["/nginx-ingress-controller"]
