/** What language models read: the repository's llms.txt with links into the site, and all pages that it names as one file. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { read, sitePath, withLinksOfSite, writtenPages } from "./pages.js";

const SOURCE = "llms.txt";

/** Each page that people write lies in the site as Markdown, too. `base` is the path that the site stands below. */
export function writeLlmsFiles(outDir: string, base: string): void {
  const write = (name: string, text: string) => {
    const path = join(outDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const file of writtenPages()) write(sitePath(file), withLinksOfSite(file, base));
  write(SOURCE, withLinksOfSite(SOURCE, base));
  const named = [...read(SOURCE).matchAll(/\]\(([^)]+\.md)\)/g)].map(([, file = ""]) => file);
  write("llms-full.txt", named.map((file) => withLinksOfSite(file, base)).join("\n"));
}
