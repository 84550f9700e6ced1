// Installs what is missing before `npm start` and `npm test`, where this Node.js can run it: written so that Node.js 12 parses it.
const OLDEST = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) void import("./install-missing.mjs");
else {
  console.error(
    `Maitred needs Node ${OLDEST.join(".")} or newer; this is ${process.versions.node}. Install one from https://nodejs.org, then run the same again.`,
  );
  process.exitCode = 1;
}
