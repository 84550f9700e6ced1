import { access, constants } from "node:fs/promises";
import { type Browser, chromium } from "playwright-core";

const EXECUTABLE = "/usr/bin/chromium";
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Null where Debian's chromium is installed, else why the browser tests don't run. */
export async function chromiumMissing(): Promise<string | null> {
  return access(EXECUTABLE, constants.X_OK).then(
    () => null,
    () => `${EXECUTABLE} is not installed`,
  );
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGS });
}
