/** Which files are pages of the site, where they lie in it, and in which order they are read: docs/README.md says so, and nothing else does. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
const INDEX = "docs/README.md";
const DECISIONS = "docs/adr";
/** What the build writes, beside the pages that people write. */
export const GENERATED = "site/generated";
const { url: REPOSITORY } = (JSON.parse(read("package.json")) as { repository: { url: string } }).repository;

export interface Page {
  readonly title: string;
  /** In the repository. */
  readonly file: string;
  /** Those below it. */
  readonly pages?: readonly Page[];
}

export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

export function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** The sections of the index, each with the pages that it lists; a folder is the pages in it. */
export function sections(): Section[] {
  return read(INDEX)
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = ""] = section.split("\n");
      const listed = [...section.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, link = ""]) => posix.join(posix.dirname(INDEX), link));
      return { title, pages: listed.map(pageOf) };
    });
}

function pageOf(file: string): Page {
  if (file === DECISIONS) return { title: "Decisions", file: `${GENERATED}/adr.md`, pages: decisions() };
  return { title: titleOf(read(file)), file };
}

export function decisions(): Page[] {
  return readdirSync(join(ROOT, DECISIONS))
    .sort()
    .map((name) => pageOf(`${DECISIONS}/${name}`));
}

export function titleOf(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1] ?? "";
}

/** Of files of the repository that are no page: what the index lists and what is generated are all there is. */
export function notPages(): string[] {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const others = folders.map(({ name }) => name).filter((name) => !["docs", "site", "memory_storage"].includes(name));
  return [...others.map((name) => `${name}/**`), "site/!(generated)/**", "memory_storage/!(README.md)"];
}

/** Where a file's page lies in the site. */
export function sitePath(file: string): string {
  if (file === "README.md") return "index.md";
  if (file === INDEX) return "contents.md";
  if (file === `${GENERATED}/adr.md`) return "adr/index.md";
  const [folder, ...rest] = file.split("/");
  if (rest.length === 0) return file.toLowerCase();
  if (file.startsWith(`${GENERATED}/`)) return file.slice(GENERATED.length + 1);
  return folder === "docs" ? rest.join("/") : `${folder?.replaceAll("_", "-")}.md`;
}

/**
 * Where a link of a page leads to in the site: to another page, or, as the site has no programs and no folders, to the file in the repository.
 * @throws Error for a link to nothing
 */
export function linkTarget(from: string, link: string): string {
  if (/^([a-z]+:|#|\/\/)/.test(link)) return link;
  const [path = "", anchor] = link.split("#");
  const file = posix.join(posix.dirname(from), decodeURI(path));
  const behind = anchor === undefined ? "" : `#${anchor}`;
  if (file === DECISIONS) return `/${sitePath(`${GENERATED}/adr.md`)}${behind}`;
  const entry = statSync(join(ROOT, file), { throwIfNoEntry: false });
  if (entry === undefined) throw new Error(`${from} links to ${link}, which is not there`);
  if (isPage(file)) return `/${sitePath(file)}${behind}`;
  return `${REPOSITORY.replace(/^git\+|\.git$/g, "")}/${entry.isDirectory() ? "tree" : "blob"}/main/${file}${behind}`;
}

function isPage(file: string): boolean {
  return file.endsWith(".md") && (/^(docs|site\/generated)\//.test(file) || file === "memory_storage/README.md" || !file.includes("/"));
}

/** The pages that people write, and the generated list of decisions. */
export function writtenPages(): string[] {
  const listed = sections().flatMap(({ pages }) =>
    pages.flatMap(({ file, pages: below = [] }) => [file, ...below.map((page) => page.file)]),
  );
  return ["README.md", INDEX, ...listed];
}

/** A page's text as Markdown in the site, its links leading to others there, below the site's base. */
export function withLinksOfSite(file: string, base: string): string {
  return read(file).replaceAll(/```[\s\S]*?```|`[^`\n]*`|\]\(([^)\s]+)\)/g, (found, link?: string) =>
    link === undefined ? found : `](${linkTarget(file, link).replace(/^\//, base)})`,
  );
}

/** The anchor of a heading, as GitHub makes it: links of the pages lead to the same place there and here. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
