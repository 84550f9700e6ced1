import { tooOldNode } from "./platform/node-version.js";

/** What `npm start` runs: the server, where this Node.js can run it. Ends as at any other wrong configuration where it can't. */
const tooOld = tooOldNode(process.versions.node);
if (tooOld === null) void import("./start-server.js");
else {
  console.error(tooOld);
  process.exitCode = 78;
}
