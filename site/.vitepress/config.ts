import { relative } from "node:path";
import { type DefaultTheme, defineConfig } from "vitepress";
import { writeLlmsFiles } from "../llms.js";
import { anchorOf, linkTarget, notPages, type Page, ROOT, sections, sitePath } from "../pages.js";
import { references } from "../reference-pages.js";

const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'";

/** Of pages by their links: in the site a page is named by its title, in the repository by its file. */
const titles = new Map<string, string>(sections().flatMap(({ pages }) => pages.map(({ file, title }) => [`/${sitePath(file)}`, title])));

export default defineConfig({
  title: "Maitred",
  description: "The memory of a booking or concierge chat, in TypeScript",
  lang: "en",
  // The browser itself sees to it that nothing is loaded from elsewhere; Vue's page and the colours of code are inline.
  head: [["meta", { "http-equiv": "Content-Security-Policy", content: POLICY }]],
  srcDir: ROOT,
  srcExclude: notPages(),
  rewrites: sitePath,
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  metaChunk: true,
  vite: {
    plugins: [
      {
        // The pages lie above the site's packages: on the server's side Vue is not found from there.
        name: "vue-of-the-site",
        enforce: "pre",
        resolveId: (source, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(source) ? { id: source, external: true } : null),
      },
    ],
  },
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      // An address that is no link in the page, as of a server on this machine, is none in the site.
      md.set({ linkify: false });
      md.core.ruler.push("links-between-files", ({ tokens, env }) => {
        const from = relative(ROOT, env.realPath ?? env.path);
        const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
        for (const [at, token] of all.entries()) {
          if (token.type === "link_open") {
            const target = linkTarget(from, token.attrGet("href") ?? "");
            token.attrSet("href", target);
            const shown = all[at + 1];
            if (shown !== undefined && /^[\w./]+\.md$/.test(shown.content))
              shown.content = titles.get(target.split("#")[0] ?? "") ?? shown.content;
          }
          // Vite takes what doesn't begin with a dot for a package.
          if (token.type.startsWith("html_")) token.content = token.content.replaceAll(/<img src="(?=\w)(?!\w+:)/g, "$&./");
        }
      });
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: "local" },
    nav: [
      { text: "Quickstart", link: "/quickstart" },
      { text: "How memory works", link: "/how-memory-works" },
      { text: "HTTP API", link: "/http-api-reference/" },
      { text: "TypeScript API", link: "/typescript/" },
      { text: "All pages", link: "/contents" },
    ],
    sidebar: [...sections(), { title: "API reference", pages: references() }].map(({ title, pages }) => ({
      text: title,
      items: pages.map(item),
    })),
  },
  buildEnd: ({ outDir, site }) => writeLlmsFiles(outDir, site.base),
});

/** A line of the sidebar. */
function item({ title, file, pages }: Page): DefaultTheme.SidebarItem {
  return { text: title, link: link(file), ...(pages && { collapsed: true, items: pages.map(item) }) };
}

function link(file: string): string {
  return `/${sitePath(file).replace(/(index)?\.md$/, "")}`;
}
