/**
 * Who may import whom: the layers of ARCHITECTURE.md. A folder imports what lies below it; within a layer only another folder's
 * front file (named like the folder). `test/layers.test.ts` plants a violation of each rule.
 */
const DOORS = ["http", "mcp", "cli", "studio", "integrations", "library", "testing"];
const USE_CASES = ["turn", "after-turn", "memories", "sessions", "history", "privacy", "import", "operations", "events"];
const ADAPTERS = ["vectors", "embedding", "telemetry", "webhooks"];
/** From top to bottom. */
const LAYERS = [
  DOORS,
  ["compose"],
  USE_CASES,
  ["jobs"],
  ["agent"],
  ADAPTERS,
  ["gate"],
  ["state"],
  ["languages"],
  ["ports"],
  ["domain"],
  ["platform"],
];
/** What a layer may import from above all the same. */
const FROM_ABOVE = {
  // The port of engines lies beside its users.
  ports: ["^src/state/(engine|partition|durable-commit)\\.ts$"],
};
const ENTRIES = "^src/[^/]+\\.ts$";

const inside = (folders) => `^src/(${folders.join("|")})/`;

const layers = LAYERS.slice(1).map((folders, index) => ({
  name: `layers-${folders.join("-")}`,
  comment: `${folders.join(", ")} import nothing from above`,
  severity: "error",
  from: { path: inside(folders) },
  to: {
    path: [inside(LAYERS.slice(0, index + 1).flat()), ENTRIES],
    ...(FROM_ABOVE[folders[0]] && { pathNot: FROM_ABOVE[folders[0]] }),
  },
}));

/** A folder beside another: only its front file. */
const fronts = [DOORS, USE_CASES].map((folders) => ({
  name: `front-files-${folders[0]}`,
  comment: "within a layer only another folder's front file",
  severity: "error",
  from: { path: `^src/(${folders.join("|")})/` },
  to: { path: inside(folders), pathNot: ["^src/$1/", `^src/(${folders.map((folder) => `${folder}/${folder}`).join("|")})\\.ts$`] },
}));

const only = (name, module, file) => ({
  name,
  severity: "error",
  from: { path: "^src/", pathNot: file },
  to: { path: `(^|node_modules/)${module}(/|$)` },
});

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    { name: "no-circles", severity: "error", from: { path: "^(src|packages)/" }, to: { circular: true } },
    ...layers,
    ...fronts,
    {
      name: "adapters-are-composed",
      comment: "adapters are named by compose/ alone, and know only ports",
      severity: "error",
      from: { path: "^src/", pathNot: [inside(ADAPTERS), inside(["compose", "state"])] },
      to: { path: inside(ADAPTERS) },
    },
    {
      name: "adapters-stand-alone",
      comment: "one kind of adapter knows nothing of another",
      severity: "error",
      from: { path: "^src/(embedding|telemetry|webhooks|vectors/[^/]+)/" },
      // How Qdrant's calls read, and are answered of points in memory, is the same for every store that does so by itself.
      to: {
        path: inside(ADAPTERS),
        pathNot: ["^src/$1/", "^src/vectors/(requests|in-memory)/", "^src/vectors/local/(partition|point-reads)\\.ts$"],
      },
    },
    {
      name: "journals-by-state",
      comment: "how a journal reads is the same in files and in an engine, and knows of neither",
      severity: "error",
      from: { path: "^src/state/journal/" },
      to: { path: "^src/state/[^/]+/", pathNot: "^src/state/journal/" },
    },
    {
      name: "state-by-ports",
      comment:
        "use-cases reach what is kept by ports; the engine's port is for who moves state, keeps some of their own, or brings an engine",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: [inside(["state", "compose", "operations", "gate", "ports", "library", "testing", "vectors/state"]), ENTRIES],
      },
      to: { path: "^src/state/" },
    },
    {
      name: "stores-of-state-are-composed",
      comment: "what lies over the engine is named by compose/ and by what moves it; others use the engine's port and its helpers",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(state|compose|operations)/", ENTRIES] },
      to: { path: "^src/state/[^/]+/" },
    },
    {
      name: "engines-are-composed",
      comment: "an engine is named by compose/ alone",
      severity: "error",
      from: { path: "^src/", pathNot: [inside(["compose", "state/engines"]), ENTRIES] },
      to: { path: "^src/state/engines/" },
    },
    {
      name: "engines-know-the-port",
      comment: "an engine knows the port and what is beside it, not what is kept",
      severity: "error",
      from: { path: "^src/state/engines/([^/]+)/" },
      to: { path: "^src/", pathNot: ["^src/state/engines/$1/", "^src/state/[^/]+\\.ts$", "^src/platform/"] },
    },
    {
      name: "packages-are-loaded",
      comment: "a package of packages/ may be missing: compose/ loads it when it is wanted",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^packages/|@maitred/", dynamic: false },
    },
    {
      name: "packages-are-composed",
      severity: "error",
      from: { path: "^src/", pathNot: inside(["compose"]) },
      to: { path: "^packages/|@maitred/" },
    },
    {
      name: "packages-stand-alone",
      comment: "a package of packages/ has what it needs from others' packages, and from the public API of this one",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: { path: ["^src/", "^packages/"], pathNot: "^packages/$1/" },
    },
    {
      name: "pages-in-the-browser",
      comment:
        "the guests' page and Studio know the server by its routes alone, one file of the types of their answers aside; some rules are both's",
      severity: "error",
      from: { path: "^src/(studio|web)/", pathNot: "^src/web/api-types[.]ts$" },
      to: {
        path: "^(src|packages)/|^node:",
        pathNot: ["^src/$1/", "^src/web/(theme|browser-store|format|controls|problems|use-answer)[.]tsx?$"],
      },
    },
    {
      name: "pages-are-bundled",
      comment: "no module of the server has any of them",
      severity: "error",
      from: { path: "^(src|packages)/", pathNot: "^src/(studio|web)/" },
      to: { path: "^src/(studio|web)/" },
    },
    only("preact-in-pages", "(preact|@preact|uplot|marked|dompurify)", "^src/(studio|web)/"),
    only("openai-in-its-files", "openai", "(^|/)openai-[^/]*\\.ts$"),
    only("ai-sdk-in-its-files", "(ai|@ai-sdk)", "(^|/)ai-sdk-[^/]*\\.ts$"),
    only("mem0-in-its-files", "mem0ai", "(^|/)mem0-[^/]*\\.ts$"),
    only("hono-in-http", "(hono|@hono)", "^src/http/"),
    only("mcp-in-its-files", "@modelcontextprotocol", "^src/mcp/"),
    only("redis-in-its-files", "ioredis", "^src/state/engines/redis/"),
    only("postgres-in-its-files", "pg", "^src/platform/postgres/"),
    only("vitest-in-testing", "vitest", "^src/testing/"),
    only("opentelemetry-in-telemetry", "@opentelemetry", "^src/telemetry/"),
    only("prometheus-in-telemetry", "prom-client", "^src/telemetry/"),
    only("qdrant-in-its-files", "@qdrant/js-client-rest", "^src/vectors/qdrant/"),
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    // What parses has no JSX: whom these files import is seen where they are bundled.
    doNotFollow: { path: "node_modules|^packages/[^/]+/dist/|[.]tsx$" },
    exclude: { path: "^dist/" },
    moduleSystems: ["es6"],
    enhancedResolveOptions: { extensions: [".ts", ".tsx", ".js", ".json"], conditionNames: ["import", "node", "default"] },
  },
};
