import { describe, expect, test } from "vitest";
import { openBrowser } from "../../src/cli/studio.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";
import { type Ran, run } from "./run.js";

const TOKEN = "operate-0123456789";

/** `maitred studio` against a server; what was opened. */
async function studio(argv: readonly string[], { token = TOKEN as string | null, opens = true } = {}): Promise<Ran & { opened: string[] }> {
  const app = await appOver(fakeApplication(), { config: { OPERATOR_TOKEN: token ?? undefined, AUTH_MODE: "header" } });
  const opened: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input as string, init as RequestInit));
  const openIt = async (url: string) => {
    opened.push(url);
    return opens;
  };
  return { ...(await run(argv, { parts: { fetch, openBrowser: openIt, operatorToken: () => TOKEN } })), opened };
}

describe("maitred studio", () => {
  test("opens a remote server's Studio and says where it is; the token is nowhere in it", async () => {
    const ran = await studio(["--url", "https://ada:secret@maitred.example/?token=x#y", "--token", TOKEN, "studio"]);
    expect(ran).toMatchObject({ code: 0, stdout: "https://maitred.example/studio\n", opened: ["https://maitred.example/studio"] });
    expect(ran.stderr).toContain("OPERATOR_TOKEN");
    expect(ran.stdout + ran.stderr).not.toContain(TOKEN);
  });

  test("is the configured server's without --url, and opens nothing where that isn't wanted", async () => {
    const ran = await studio(["studio", "--no-open"]);
    expect(ran).toMatchObject({ code: 0, stdout: "http://127.0.0.1:3000/studio\n", opened: [] });
    expect((await studio(["--json", "studio", "--no-open"])).stdout).toBe('{"url":"http://127.0.0.1:3000/studio"}\n');
  });

  test("says what to do where there is no browser, no Studio, and no server", async () => {
    expect((await studio(["studio"], { opens: false })).stderr).toContain("No browser could be opened");
    const none = await studio(["studio"], { token: null });
    expect([none.code, none.opened, none.stderr]).toEqual([3, [], expect.stringContaining("Set OPERATOR_TOKEN where the server runs")]);
    const away = await run(["studio"], { parts: { fetch: () => Promise.reject(new Error("refused")) } });
    expect([away.code, away.stderr]).toEqual([expect.any(Number), expect.stringContaining("can't be reached")]);
  });

  test("[hostile-input] opens http and https alone", async () => {
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "ftp://maitred.example", "nowhere", ""]) {
      const ran = await studio(["--url", url, "studio"]);
      expect([url, ran.code, ran.opened]).toEqual([url, 2, []]);
    }
  });
});

describe("opening a browser", () => {
  const started = async (platform: string, event: "spawn" | "error") => {
    const calls: unknown[] = [];
    const opened = await openBrowser("http://127.0.0.1:3000/studio?a&b", platform, (program, args, options) => {
      calls.push(program, args, options.shell ?? false);
      return { once: (name, listener) => name === event && queueMicrotask(listener), unref: () => {} };
    });
    return [opened, ...calls];
  };

  test("is the system's own program's, which gets the address as one argument, past every shell", async () => {
    const url = "http://127.0.0.1:3000/studio?a&b";
    expect(await started("darwin", "spawn")).toEqual([true, "open", [url], false]);
    expect(await started("linux", "spawn")).toEqual([true, "xdg-open", [url], false]);
    expect(await started("win32", "spawn")).toEqual([true, "rundll32", ["url.dll,FileProtocolHandler", url], false]);
  });

  test("that can't be done is told", async () => {
    expect((await started("linux", "error"))[0]).toBe(false);
  });
});
