import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

test("the guests' page is made of its own modules and of five packages, and is small", async () => {
  const { bundle } = (await import(new URL("../../scripts/browser-bundles.mjs", import.meta.url).href)) as {
    readonly bundle: (folder: string) => Promise<{ readonly files: Record<string, string>; readonly inputs: readonly string[] }>;
  };
  const { files, inputs } = await bundle("web");
  const packages = inputs.flatMap((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toEqual(["@preact/signals", "@preact/signals-core", "dompurify", "marked", "preact"]);
  expect(inputs.filter((path) => !path.includes("node_modules/") && !path.startsWith("src/web/"))).toEqual([]);
  for (const name of new Set(packages)) expect(files["LICENSES.txt"]).toContain(`${name}\n\n`);
  const bytes = gzipSync(files["page.js"] ?? "").byteLength + gzipSync(files["page.css"] ?? "").byteLength;
  expect(bytes).toBeLessThan(120_000);
});
