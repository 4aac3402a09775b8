# syntax=docker/dockerfile:1
# Sluice: docker build -t sluice .   (npm run image does the same where there is no Docker engine)
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates nodejs npm \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# The secret is for networks whose own authority signs for the registry: --secret id=ca,src=FILE
RUN --mount=type=secret,id=ca,target=/run/secrets/ca.crt \
    if [ -s /run/secrets/ca.crt ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca.crt; fi; \
    npm ci --no-audit --no-fund
COPY build ./build
COPY control ./control
COPY lua-src ./lua-src
COPY nginx ./nginx
COPY tsconfig.json ./
# Equal inputs make an equal layer: dates of files are part of it.
ARG SOURCE_DATE_EPOCH=0
RUN npm run build && find dist -name '*.map' -delete && find dist -exec touch -h -d "@${SOURCE_DATE_EPOCH}" {} +

FROM ${BASE}
ARG VERSION=0.1.0
ENV DEBIAN_FRONTEND=noninteractive
# The retired image's numbers: manifests and pod security policies name them.
RUN groupmod -g 82 www-data && usermod -u 101 -g 82 -d /nonexistent -s /usr/sbin/nologin www-data
RUN apt-get update \
 && apt-get upgrade -y --no-install-recommends \
 && apt-get install -y --no-install-recommends \
      ca-certificates tini openssl libcap2-bin libmimalloc3 nodejs nginx \
      libnginx-mod-http-ndk libnginx-mod-http-lua libnginx-mod-stream libnginx-mod-stream-js lua-resty-core lua-resty-lrucache lua-cjson \
      libnginx-mod-http-headers-more-filter libnginx-mod-http-brotli-filter libnginx-mod-http-brotli-static \
      libnginx-mod-http-geoip2 libnginx-mod-http-modsecurity modsecurity-crs \
 && setcap cap_net_bind_service=+ep /usr/sbin/nginx \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache \
      /var/lib/dpkg/*-old /var/log/* /var/lib/nginx \
      /etc/nginx/sites-enabled /etc/nginx/sites-available /etc/nginx/nginx.conf
COPY rootfs/ /
COPY --from=build /src/dist /usr/lib/sluice
# Names and paths of the retired image: pods, probes, hooks and people's habits use them.
RUN ln -s /usr/lib/sluice/nginx-ingress-controller.mjs /nginx-ingress-controller \
 && ln -s /usr/lib/sluice/dbg.mjs /dbg \
 && ln -s /usr/lib/sluice/wait-shutdown.mjs /wait-shutdown \
 && ln -s /usr/lib/sluice/kube-webhook-certgen.mjs /kube-webhook-certgen \
 && ln -s /tmp/sluice/private/nginx.conf /etc/nginx/nginx.conf \
 && ln -s "$(ls /usr/lib/*/libmimalloc.so.* | head -n 1)" /usr/local/lib/libmimalloc.so \
 && mkdir -p /var/log/nginx /etc/ingress-controller/geoip /etc/ingress-controller/ssl /etc/ingress-controller/auth \
 && ln -s /dev/stdout /var/log/nginx/access.log && ln -s /dev/stderr /var/log/nginx/error.log \
 && chown -R 101:82 /var/log/nginx /etc/ingress-controller
ARG SOURCE_DATE_EPOCH=0
RUN --mount=type=bind,from=build,source=/src,target=/src \
    mkdir -p /usr/share/sluice && node /src/build/sbom.mjs "${VERSION}" > /usr/share/sluice/sbom.spdx.json
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="Ingress controller for Kubernetes, successor of ingress-nginx" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /etc/nginx
USER 101:82
EXPOSE 80 443 10254 8443
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["/nginx-ingress-controller"]
