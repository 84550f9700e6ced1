#!/usr/bin/env node
import { tooOldNode } from "./platform/node-version.js";

/** `maitred`, where this Node.js can run it. Ends as at a wrong option where it can't. */
const tooOld = tooOldNode(process.versions.node);
if (tooOld === null) void import("./start-cli.js");
else {
  console.error(tooOld);
  process.exitCode = 2;
}
