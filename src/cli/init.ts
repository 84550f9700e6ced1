import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { AI_SDK_PACKAGES, isAiSdkProvider } from "../agent/models/ai-sdk-packages.js";
import { NEEDS_ESBUILD } from "../compose/domain-file-hooks.js";
import { AppError } from "../platform/errors.js";
import { nearestName } from "../platform/nearest-name.js";
import type { Terminal } from "./terminal.js";

/** What a new project is made by. What isn't given is asked for at a terminal, and has its default elsewhere. */
export interface InitOptions {
  /** Where it goes; made where it isn't there. Default: the present directory. */
  readonly dir?: string;
  /** As LLM_PROVIDER names it, or `none`. Default: `openai`. */
  readonly provider?: string;
  /** As LLM_MODEL names it. Providers but `openai` need one. */
  readonly model?: string;
  readonly port?: string;
  /** Asks nothing. */
  readonly yes: boolean;
  /** Writes over files that are there; a package.json keeps what it has beside. */
  readonly force: boolean;
  readonly version: string;
}

interface Answers {
  readonly provider: string;
  readonly model: string;
  readonly port: string;
}

const PROVIDERS = ["openai", "none", ...Object.keys(AI_SDK_PACKAGES)];

/**
 * Writes a domain, a test of it, and what it takes to run both. Asks for no secret.
 * @throws ABORTED where the questions are broken off, INVALID_REQUEST for a provider or a port that is none, and where a file is there
 * already: nothing is written then
 */
export async function initCommand(terminal: Terminal, options: InitOptions): Promise<void> {
  const dir = resolve(options.dir ?? ".");
  const answers = checked(terminal.interactive && !options.yes ? await asked(terminal, options) : given(options));
  const templates = ["domain.txt", "domain-test.txt"].map((name) => readFile(new URL(`./init/${name}`, import.meta.url), "utf8"));
  const [domain = "", test = ""] = await Promise.all(templates);
  const files = {
    "domain.ts": domain,
    "domain.test.ts": test,
    ".env": envOf(answers),
    "package.json": await packageOf(dir, answers, options.version),
    ".gitignore": "node_modules\n.env.local\nmemory_storage\n",
  };
  const there = (await Promise.all(Object.keys(files).map(async (name) => ((await isThere(join(dir, name))) ? [name] : [])))).flat();
  if (there.length > 0 && !options.force)
    throw new AppError("INVALID_REQUEST", {
      detail: `Nothing was written: in ${dir} there is ${there.join(", ")} already.`,
      hint: "Name another directory, or write over them with --force; a package.json then keeps what else it has.",
    });
  await mkdir(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  terminal.result({ dir, files: Object.keys(files) });
  terminal.line(`Written in ${dir}: ${Object.keys(files).join(", ")}`);
  const { key } = keyOf(answers.provider);
  if (key !== null) terminal.line(`Put ${key}=… into .env.local, which git ignores; until then a stand-in answers.`);
  const here = relative(process.cwd(), dir);
  terminal.line(`Next:\n  ${here === "" ? "" : `cd ${here} && `}npm install\n  npm run dev`);
}

function given({ provider = "openai", model = "", port = "3000" }: InitOptions): Answers {
  return { provider, model, port };
}

async function asked(terminal: Terminal, options: InitOptions): Promise<Answers> {
  const { provider, model, port } = given(options);
  const { stdin, stdout } = terminal.streams;
  const asking = createInterface({ input: stdin, output: stdout, terminal: true });
  const typed = asking[Symbol.asyncIterator]();
  const ask = async (question: string, otherwise = "") => {
    stdout.write(otherwise === "" ? `${question} ` : `${question} (${otherwise}) `);
    const line = await typed.next();
    // Whoever ends the input, or presses Ctrl+C, wants none of it.
    if (line.done === true) throw new AppError("ABORTED");
    return line.value.trim() || otherwise;
  };
  try {
    const chosen = options.provider ?? (await ask(`Whose language model: ${PROVIDERS.join(", ")}?`, provider));
    const named = options.model ?? (isAiSdkProvider(chosen) ? await ask("Which of its models?") : model);
    return { provider: chosen, model: named, port: options.port ?? (await ask("Port?", port)) };
  } finally {
    asking.close();
  }
}

function checked(answers: Answers): Answers {
  const { provider, model, port } = answers;
  const wrong = (detail: string, hint: string) => new AppError("INVALID_REQUEST", { detail, hint });
  if (!PROVIDERS.includes(provider)) {
    const meant = nearestName(provider, PROVIDERS);
    throw wrong(
      `There is no provider "${provider.slice(0, 64)}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
      `One of ${PROVIDERS.join(", ")}.`,
    );
  }
  if (isAiSdkProvider(provider) && model === "") throw wrong(`Which of ${provider}'s models is not said.`, "Name it with --model.");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw wrong(`"${port.slice(0, 64)}" is no port.`, "A whole number up to 65535.");
  return answers;
}

function keyOf(provider: string): { readonly key: string | null; readonly module: string | null } {
  if (isAiSdkProvider(provider)) return AI_SDK_PACKAGES[provider];
  return { key: provider === "openai" ? "OPENAI_API_KEY" : null, module: null };
}

function envOf({ provider, model, port }: Answers): string {
  const { key } = keyOf(provider);
  const lines = [
    "# Committed: secrets go to .env.local, which git ignores.",
    ...(key === null ? [] : [`# ${key}= in .env.local`]),
    "DOMAIN_FILE=./domain.ts",
    `PORT=${port}`,
    ...(isAiSdkProvider(provider) ? [`LLM_PROVIDER=${provider}`] : []),
    ...(model === "" ? [] : [`LLM_MODEL=${model}`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What is there stays, as far as it is nothing of ours. */
async function packageOf(dir: string, { provider }: Answers, version: string): Promise<string> {
  const text = await readFile(join(dir, "package.json"), "utf8").catch(() => "{}");
  const { scripts, dependencies, devDependencies, ...rest } = parsed(text) as Record<string, object | undefined>;
  const { module } = keyOf(provider);
  const own = Object.fromEntries(["maitred", "@maitred/offline", "@maitred/minilm"].map((name) => [name, `^${version}`]));
  const project = {
    name: basename(dir)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, "-"),
    private: true,
    ...rest,
    type: "module",
    scripts: { ...scripts, start: "maitred serve", dev: "maitred serve --watch", test: "vitest run" },
    dependencies: {
      ...dependencies,
      ...own,
      ...(module !== null && isAiSdkProvider(provider) && { [module]: `^${AI_SDK_PACKAGES[provider].forNode20}.0.0` }),
      ...(NEEDS_ESBUILD && { esbuild: "^0.28.0" }),
      zod: "^4.0.0",
    },
    devDependencies: { ...devDependencies, vitest: "^4.0.0" },
  };
  return `${JSON.stringify(project, null, 2)}\n`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("INVALID_REQUEST", { detail: "The package.json that is there is not JSON.", hint: "Mend it first.", cause });
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
