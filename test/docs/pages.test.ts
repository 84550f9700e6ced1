import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ApiDocument, httpReference } from "../../site/http-reference.js";
import {
  anchorOf,
  decisions,
  linkTarget,
  type Page,
  ROOT,
  read,
  sections,
  sitePath,
  withLinksOfSite,
  writtenPages,
} from "../../site/pages.js";

describe("the navigation of the documentation's site", () => {
  const files = sections()
    .flatMap(({ pages }) => pages)
    .map(({ file }) => file);

  test("has every page of docs once, and those of the root, as the index lists them", () => {
    const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md");
    const beside = [
      "SECURITY.md",
      "CONTRIBUTING.md",
      "ARCHITECTURE.md",
      "CHANGELOG.md",
      "memory_storage/README.md",
      "site/generated/adr.md",
    ];
    expect(files.toSorted()).toEqual([...pages.map((name) => `docs/${name}`), ...beside].toSorted());
  });

  test("has the order of llms.txt, which has the README before and neither files on disk nor decisions", () => {
    const listed = [...read("llms.txt").matchAll(/\]\(([^)]+)\)/g)].map(([, file]) => file);
    expect(listed).toEqual(["README.md", ...files.filter((file) => !["memory_storage/README.md", "site/generated/adr.md"].includes(file))]);
  });

  test("has every decision below one line, and a title for each page", () => {
    const [listed] = sections()
      .flatMap(({ pages }) => pages)
      .filter(({ title }) => title === "Decisions");
    expect(listed?.pages).toEqual(decisions());
    expect(decisions().length).toBe(readdirSync(join(ROOT, "docs", "adr")).length);
    const titles = (pages: readonly Page[]): string[] => pages.flatMap(({ title, pages: below = [] }) => [title, ...titles(below)]);
    expect(sections().flatMap(({ title, pages }) => [title, ...titles(pages)])).not.toContain("");
  });

  test("gives each page a place of its own in the site", () => {
    const places = writtenPages().map(sitePath);
    expect(new Set(places).size).toBe(places.length);
    expect(places).toEqual(expect.arrayContaining(["index.md", "quickstart.md", "security.md", "adr/0008-layers.md", "adr/index.md"]));
  });
});

describe("a link of a page", () => {
  test.each([
    ["docs/domain.md", "own-agent.md", "/own-agent.md"],
    ["docs/domain.md", "../SECURITY.md#keys", "/security.md#keys"],
    ["docs/adr/0008-layers.md", "0009-the-memory-log.md", "/adr/0009-the-memory-log.md"],
    ["README.md", "docs/README.md", "/contents.md"],
    ["docs/README.md", "adr", "/adr/index.md"],
    ["docs/http-api.md", "../examples/curl.sh", "https://github.com/maitred/maitred/blob/main/examples/curl.sh"],
    ["docs/operations.md", "../deploy", "https://github.com/maitred/maitred/tree/main/deploy"],
    ["docs/domain.md", "#tenants", "#tenants"],
    ["docs/domain.md", "https://example.org/a.md", "https://example.org/a.md"],
  ])("in %s to %s leads to %s", (from, link, target) => {
    expect(linkTarget(from, link)).toBe(target);
  });

  test("to nothing is an error that names page and link", () => {
    expect(() => linkTarget("docs/domain.md", "nowhere.md")).toThrow("docs/domain.md links to nowhere.md, which is not there");
  });

  test("leads to another page of the site in the Markdown for language models, and code stays as it is", () => {
    const text = withLinksOfSite("docs/how-memory-works.md", "/maitred/");
    expect(text).toContain("](/maitred/architecture.md)");
    expect(text).not.toContain("](../");
  });
});

test("a heading's anchor is GitHub's", () => {
  expect(["What `defineDomain` takes", "To add …", "Once, and what fails"].map(anchorOf)).toEqual([
    "what-definedomain-takes",
    "to-add-",
    "once-and-what-fails",
  ]);
});

describe("the HTTP API's reference", () => {
  const document = (text: string): ApiDocument => ({
    info: { description: text },
    components: {
      schemas: { Thing: { type: "object", description: text, required: ["a"], properties: { a: { type: "string", description: text } } } },
    },
    paths: {
      "/v1/things/{id}": {
        get: {
          operationId: "getThing",
          tags: ["Odd things"],
          summary: text,
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string", pattern: "^a|b$", maxLength: 9 } }],
          responses: { 200: { description: text, content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } } },
        },
      },
    },
  });

  test("has a page for each tag, an index that leads there, and the schemas", () => {
    const pages = httpReference(document("A thing."));
    expect(Object.keys(pages)).toEqual(["index.md", "odd-things.md", "schemas.md"]);
    expect(pages["index.md"]).toContain("[`GET /v1/things/{id}`](odd-things.md#getthing) | A thing. |");
    expect(pages["odd-things.md"]).toContain("| `id` | path | string | yes | Pattern `^a\\|b$`, at most 9 characters |");
    expect(pages["odd-things.md"]).toContain("| 200 | [Thing](schemas.md#thing) as `application/json` | A thing. |");
    expect(pages["schemas.md"]).toContain("| `a` | string | yes | A thing. |");
  });

  test("shows what a description holds as text, whatever it is", () => {
    const pages = Object.values(httpReference(document("<script>x</script> {{ 1 + 1 }} a | b *c* [d](e) `f|<g>`\n# h"))).join("\n");
    expect(pages).not.toMatch(/<script|\{\{| \| b |^# h/m);
    expect(pages).toContain("&lt;script>x&lt;/script> &#123;&#123; 1 + 1 }} a \\| b \\*c\\* \\[d\\](e) `f\\|<g>` # h");
  });
});
