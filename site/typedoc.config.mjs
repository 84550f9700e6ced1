import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
/** The source of each subpath of the package: `./http` is `src/http.ts`. */
const subpaths = Object.keys(exports).filter((path) => !path.endsWith(".json"));

/** @type {import("typedoc").TypeDocOptions & import("typedoc-plugin-markdown").PluginOptions} */
export default {
  entryPoints: subpaths.map((path) => join(ROOT, "src", `${path === "." ? "index" : path.slice(2)}.ts`)),
  tsconfig: join(import.meta.dirname, "tsconfig.json"),
  plugin: ["typedoc-plugin-markdown", join(import.meta.dirname, "module-names.mjs")],
  out: join(import.meta.dirname, "generated", "typescript"),
  name: "TypeScript API",
  readme: "none",
  skipErrorChecking: true,
  excludeExternals: true,
  excludePrivate: true,
  disableSources: true,
  outputFileStrategy: "members",
  entryFileName: "index",
  hideBreadcrumbs: true,
  hidePageHeader: true,
  expandParameters: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  tableColumnSettings: { hideInherited: true, hideModifiers: true, hideOverrides: true },
  // Types that are not exported are shown where they are used; a link of a comment leads somewhere.
  validation: { notExported: false, invalidLink: true },
  treatValidationWarningsAsErrors: true,
  useHTMLEncodedBrackets: true,
  sanitizeComments: true,
};
