#!/bin/sh
# Last step of the base image, run as root inside it: the user, its folders, and nothing left over from the installation.
set -eu

groupadd --gid 1000 agent
useradd --uid 1000 --gid 1000 --create-home --home-dir /home/agent --shell /bin/bash agent
mkdir -p /workspace
chown 1000:1000 /workspace
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /usr/share/doc/* /usr/share/man/* /usr/share/info/*
find /var/log -type f -delete
