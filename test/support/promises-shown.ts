import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule, TestSpecification, Vitest } from "vitest/node";
import { REQUIREMENTS } from "../requirements.js";
import { PROJECTS } from "./projects.js";
import { testsOf } from "./what-ran.js";

const HEAD = "| promise | `npm test` | `npm run test:all`, beside it |\n|---|---|---|\n";
const ROW = /^\| `([a-z-]+)` \| (yes|)\s*\| ([a-z, ]*)\s*\|$/;
const [FIRST = "", ...OTHERS] = Object.keys(PROJECTS);

/**
 * Holds the table of docs/testing.md to what was shown: by whole runs of a project in which every test passed. With `-u` it writes what
 * is otherwise there.
 */
export default class PromisesShown implements Reporter {
  #vitest: Vitest | null = null;
  /** Projects of which every file is run, with every test. */
  #whole: ReadonlySet<string> = new Set();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    if (this.#vitest === null || this.#vitest.config.testNamePattern !== undefined) return;
    const all = await this.#vitest.globTestSpecifications();
    const filesOf = (each: readonly TestSpecification[], name: string) => each.filter(({ project }) => project.name === name).length;
    this.#whole = new Set(Object.keys(PROJECTS).filter((name) => filesOf(specifications, name) === filesOf(all, name)));
  }

  onTestRunEnd(modules: readonly TestModule[], _errors: unknown, reason: string): void {
    if (this.#vitest === null || reason !== "passed") return;
    const path = join(this.#vitest.config.root, "docs", "testing.md");
    const page = readFileSync(path, "utf8");
    const told = shownIn(page);
    const shown = new Map(told);
    for (const [project, promises] of shownBy(modules.filter(({ project }) => this.#whole.has(project.name)))) {
      for (const promise of Object.keys(REQUIREMENTS)) {
        const by = new Set(shown.get(promise));
        if (promises.has(promise)) by.add(project);
        else by.delete(project);
        shown.set(promise, by);
      }
    }
    if (tableOf(shown) === tableOf(told)) return;
    if (this.#vitest.config.snapshotOptions.updateSnapshot === "all") writeFileSync(path, page.replace(tableOf(told), tableOf(shown)));
    else {
      const wrong = [...shown].filter(([promise, by]) => rowOf(promise, by) !== rowOf(promise, told.get(promise) ?? new Set()));
      console.error(
        `\n docs/testing.md says otherwise which promises are shown; -u writes:\n${wrong.map(([p, by]) => rowOf(p, by)).join("\n")}`,
      );
      process.exitCode = 1;
    }
  }
}

/** The promises that each project's tests cite. Of a project in which one of these was skipped nothing is known. */
function shownBy(modules: readonly TestModule[]): Map<string, Set<string>> {
  const shown = new Map<string, Set<string>>();
  const incomplete = new Set<string>();
  for (const module of modules) {
    const { name } = module.project;
    const promises = shown.get(name) ?? new Set();
    shown.set(name, promises);
    for (const test of testsOf(module)) {
      for (const [, id = ""] of test.fullName.matchAll(/\[([a-z]+(?:-[a-z]+)+)\]/g)) {
        promises.add(id);
        if (test.result().state !== "passed") incomplete.add(name);
      }
    }
  }
  for (const name of incomplete) shown.delete(name);
  return shown;
}

/** The projects by which the page says that each promise is shown. */
export function shownIn(page: string): Map<string, Set<string>> {
  const rows = page
    .slice(page.indexOf(HEAD) + HEAD.length)
    .split("\n\n", 1)[0]
    ?.split("\n")
    .flatMap((line) => {
      const [, promise, isFirst, others = ""] = ROW.exec(line.trim()) ?? [];
      if (promise === undefined) return [];
      const by = [...(isFirst === "yes" ? [FIRST] : []), ...others.split(",").map((name) => name.trim())];
      return [[promise, new Set(by.filter((name) => name !== ""))] as const];
    });
  return new Map(rows);
}

function tableOf(shown: ReadonlyMap<string, ReadonlySet<string>>): string {
  return HEAD + [...shown].map(([promise, by]) => rowOf(promise, by)).join("\n");
}

function rowOf(promise: string, by: ReadonlySet<string>): string {
  return `| \`${promise}\` | ${by.has(FIRST) ? "yes" : ""} | ${OTHERS.filter((name) => by.has(name)).join(", ")} |`;
}
