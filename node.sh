#!/bin/sh
# Runs the Node that npm installed for this project: sh node.sh ARGUMENTS. npm before version 11 does not link it into
# node_modules/.bin, because the packages for other platforms contain a program of the same name.
own=node_modules/.bin/node
if [ ! -e "$own" ]; then
  for node in node_modules/node-*/bin/node; do
    if [ -x "$node" ]; then ln -sf "../${node#node_modules/}" "$own"; fi
  done
fi
if [ ! -e "$own" ]; then
  echo 'Node is missing. Run "npm ci" first.' >&2
  exit 1
fi
exec "$own" "$@"
