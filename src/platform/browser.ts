import { type SpawnOptions, spawn } from "node:child_process";

/** What opens an address, by system: a program, and what comes before the address. No shell reads it. */
const OPENERS: Readonly<Record<string, readonly [program: string, ...before: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const ELSEWHERE = ["xdg-open"] as const;

interface Started {
  once(event: "spawn" | "error", listener: () => void): unknown;
  unref(): void;
}

type Start = (program: string, args: readonly string[], options: SpawnOptions) => Started;

/** Opens an address in the user's browser. False where nothing on this machine does that; what becomes of it then is not waited for. */
export function openBrowser(url: string, platform: string = process.platform, start: Start = spawn): Promise<boolean> {
  const [program, ...before] = OPENERS[platform] ?? ELSEWHERE;
  return new Promise((resolve) => {
    const started = start(program, [...before, url], { stdio: "ignore", detached: true });
    started.once("error", () => resolve(false));
    started.once("spawn", () => {
      started.unref();
      resolve(true);
    });
  });
}
