import { writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from "vitest/node";
import { PROJECTS, SLOW } from "./projects.js";

/**
 * Says what a run is going to do, and at its end what it did, with each test that was skipped and why; `TEST_RESULTS` names a file that
 * gets the same for a program.
 */
export default class WhatRan implements Reporter {
  #began = 0;
  #filtered = false;

  onInit({ config }: Vitest): void {
    this.#filtered = config.testNamePattern !== undefined;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#began = performance.now();
    const files = countBy(specifications, ({ project }) => project.name);
    for (const [project, count] of files) console.log(` ${project}: ${count} files: ${PROJECTS[project] ?? ""}`);
    if (files.has("deep")) console.log(` KILLS=${process.env.KILLS ?? "10"} at random, beside those at each named point`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => testsOf(module).map((test) => ({ project: module.project.name, test })));
    const skipped = tests.filter(({ test }) => test.result().state === "skipped");
    console.log("");
    for (const [project, count] of countBy(tests, (each) => each.project)) {
      const left = skipped.filter((each) => each.project === project).length;
      console.log(` ${project}: ${count - left} tests ran, ${left} skipped`);
    }
    const names = skipped.map(({ test }) => `${test.fullName}${noteOf(test)}`);
    // What another name was asked for is no news.
    for (const name of this.#filtered ? [] : names) console.log(` skipped: ${name}`);
    console.log(` ${Math.round((performance.now() - this.#began) / 1_000)} s`);
    if (process.env.TEST_RESULTS === undefined) return;
    const passed = tests.filter(({ test }) => test.result().state === "passed").length;
    writeFileSync(process.env.TEST_RESULTS, JSON.stringify({ passed, skipped: names, failed: modules.flatMap(failuresOf) }));
  }
}

/** The project's own tests: those of a file that are another project's are skipped in this one. */
export function testsOf({ children, project }: TestModule): TestCase[] {
  const isOwn = ({ tags }: TestCase) => tags.includes(SLOW) || project.name !== "slow";
  return [...children.allTests()].filter((test) => isOwn(test) && !(project.name === "fast" && test.tags.includes(SLOW)));
}

/** Of its tests, and of what it does before and behind them. */
function failuresOf(module: TestModule): string[] {
  const at = module.relativeModuleId;
  const failed = testsOf(module).filter((test) => test.result().state === "failed");
  const errors = failed.map((test) => `${at} > ${test.fullName}: ${firstLineOf(test.result().errors)}`);
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  const around = [...module.errors(), ...suites];
  return around.length === 0 ? errors : [...errors, `${at}: ${firstLineOf(around)}`];
}

function firstLineOf(errors: readonly { readonly message: string }[] | undefined): string {
  return errors?.[0]?.message.split("\n")[0] ?? "";
}

function noteOf(test: TestCase): string {
  const result = test.result();
  return result.state === "skipped" && result.note !== undefined ? `: ${result.note}` : "";
}

function countBy<T>(all: readonly T[], key: (each: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of all) counts.set(key(each), (counts.get(key(each)) ?? 0) + 1);
  return counts;
}
