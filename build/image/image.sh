#!/bin/bash
# Builds the image without a Docker engine and without a registry, and runs it in a network namespace of its own.
# usage, as root: build/image/image.sh WORKDIR [MIRROR]
# Needs: apt-get install --no-install-recommends buildah podman runc debootstrap
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mkdir -p "$1" && cd "$1" && pwd)
mirror=${2:-http://deb.debian.org/debian}
mirror=${mirror%/}
base=localhost/debian:trixie-slim
image=localhost/sluice:dev

printf '[storage]\ndriver = "overlay"\nrunroot = "%s/storage/run"\ngraphroot = "%s/storage/graph"\n' "$work" "$work" > "$work/storage.conf"
# Without CAP_SYS_RESOURCE the default limits cannot be set, and crun does not know hybrid control groups.
printf '[containers]\ndefault_ulimits = ["nofile=20000:20000","nproc=4096:4096"]\n[engine]\nruntime = "runc"\n' > "$work/containers.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_CONF=$work/containers.conf

make_base() {
  local fs=$work/rootfs
  debootstrap --variant=minbase --include=ca-certificates trixie "$fs" "$mirror" > "$work/debootstrap.log" 2>&1
  printf 'deb %s %s main\n' "$mirror" trixie "$mirror" trixie-updates "$mirror-security" trixie-security > "$fs/etc/apt/sources.list"
  printf '#!/bin/sh\nexit 101\n' > "$fs/usr/sbin/policy-rc.d"
  chmod 755 "$fs/usr/sbin/policy-rc.d"
  # debootstrap leaves apt keeping every archive it downloads; that would be half the image.
  cat > "$fs/etc/apt/apt.conf.d/docker-clean" <<'C'
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true"; };
APT::Update::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true"; };
Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache ""; Acquire::GzipIndexes "true"; Acquire::Languages "none";
C
  printf 'path-exclude /usr/share/%s/*\n' doc man locale info lintian > "$fs/etc/dpkg/dpkg.cfg.d/docker-slim"
  echo 'path-include /usr/share/doc/*/copyright' >> "$fs/etc/dpkg/dpkg.cfg.d/docker-slim"
  chroot "$fs" apt-get clean
  rm -rf "$fs"/var/lib/apt/lists/* "$fs"/var/log/* "$fs"/usr/share/{man,locale,info,lintian}/* "$fs/etc/hostname"
  : > "$fs/etc/resolv.conf"
  tar -C "$fs" -c . | podman import -q - "$base" > /dev/null
  rm -rf "$fs"
}

build() {
  # Equal sources give equal layers.
  local time
  time=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)
  buildah bud --layers --isolation=chroot --network=host --timestamp="$time" --build-arg "BASE=$base" \
    --secret id=ca,src=/etc/ssl/certs/ca-certificates.crt -t "$image" "$root" > "$work/build.log" 2>&1 || { tail -25 "$work/build.log"; exit 1; }
}

# As a pod would have it: no root, a read-only root file system, one capability. Serves a manifest, then stops.
smoke() {
  local ns=sluice-image-$$ name=sluice-image-$$
  mkdir -p "$work/manifests"
  cat > "$work/manifests/web.yaml" <<'Y'
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: { name: nginx }
spec: { controller: k8s.io/ingress-nginx }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web, namespace: default, annotations: { nginx.ingress.kubernetes.io/permanent-redirect: "https://moved.test/" } }
spec:
  ingressClassName: nginx
  rules: [{ host: web.test, http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }] } }]
Y
  ip netns add "$ns"
  trap "podman rm -f -t 1 $name > /dev/null 2>&1 || true; ip netns del $ns" EXIT
  ip -n "$ns" link set lo up
  podman run -d --name "$name" --network="ns:/run/netns/$ns" --read-only --tmpfs /tmp:rw,size=64m,mode=1777 --cap-drop=ALL --cap-add=NET_BIND_SERVICE \
    -v "$work/manifests:/manifests:ro" "$image" /nginx-ingress-controller --manifests=/manifests --post-shutdown-grace-period=3 > /dev/null
  local answer=""
  for _ in $(seq 150); do
    answer=$(ip netns exec "$ns" curl -s -o /dev/null -w '%{http_code} %{redirect_url}' -H 'Host: web.test' http://127.0.0.1/ || true)
    [ "$answer" = "301 https://moved.test/" ] && break
    sleep 0.2
  done
  [ "$answer" = "301 https://moved.test/" ] || { echo "the image does not serve: $answer"; podman logs "$name" 2>&1 | tail -20; exit 1; }
  podman exec "$name" /dbg routes
  podman exec "$name" /wait-shutdown
  [ "$(podman wait "$name")" = 0 ] || { podman logs "$name" 2>&1 | tail -20; exit 1; }
}

podman image exists "$base" || make_base
build
smoke
podman images --format '{{.Repository}}:{{.Tag}} {{.Size}}' "$image"
echo "the image serves and stops as it should"
