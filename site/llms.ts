/** What language models read: the repository's llms.txt with links into the site, and all pages that it names as one file. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { read, sitePath, withLinksOfSite } from "./pages.js";

const SOURCE = "llms.txt";

/** Each page that llms.txt names lies in the site as Markdown, too. */
export function writeLlmsFiles(outDir: string): void {
  const write = (name: string, text: string) => {
    const path = join(outDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const files = [...read(SOURCE).matchAll(/\]\(([^)]+\.md)\)/g)].map(([, file = ""]) => file);
  write(SOURCE, withLinksOfSite(SOURCE));
  for (const file of files) write(sitePath(file), withLinksOfSite(file));
  write("llms-full.txt", files.map(withLinksOfSite).join("\n"));
}
