#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Weir Authors
# SPDX-License-Identifier: Apache-2.0

# Installs from Debian's packages what Weir runs containers with, and what the demo packs; does nothing where all is there.
set -euo pipefail

declare -A packages=(
  [runc]=runc [conmon]=conmon [nft]=nftables [ip]=iproute2 [busybox]=busybox-static
)
export PATH="$PATH:/usr/sbin:/sbin"
missing=()
for command in "${!packages[@]}"; do
  command -v "$command" >/dev/null || missing+=("${packages[$command]}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "Missing: ${missing[*]}. Install them, or run this as root." >&2
  exit 1
fi
echo "Installing ${missing[*]} from Debian's packages ..."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
