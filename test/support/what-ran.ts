import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from "vitest/node";

const WHAT: Readonly<Record<string, string>> = {
  fast: "everything that runs in the process of the tests",
  deep: "kills, planted bugs, races, processes, the packed package, frameworks and the browser",
  faults: "the fault matrix and outages; after the others, as deadlines decide what is seen",
  replicas: "several servers on one PostgreSQL or Redis, killed in between; after all others, as they take the whole machine",
};

/** Says what a run is going to do, and at its end what it did, with each test that was skipped and why. */
export default class WhatRan implements Reporter {
  #began = 0;
  #filtered = false;

  onInit({ config }: Vitest): void {
    this.#filtered = config.testNamePattern !== undefined;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#began = performance.now();
    const files = countBy(specifications, ({ project }) => project.name);
    for (const [project, count] of files) console.log(` ${project}: ${count} files: ${WHAT[project] ?? ""}`);
    if (files.has("deep")) console.log(` KILLS=${process.env.KILLS ?? "10"} at random, beside those at each named point`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => ({ project: module.project.name, test })));
    const skipped = tests.filter(({ test }) => test.result().state === "skipped");
    console.log("");
    for (const [project, count] of countBy(tests, (each) => each.project)) {
      const left = skipped.filter((each) => each.project === project).length;
      console.log(` ${project}: ${count - left} tests ran, ${left} skipped`);
    }
    // What another name was asked for is no news.
    for (const { test } of this.#filtered ? [] : skipped) console.log(` skipped: ${test.fullName}${noteOf(test)}`);
    console.log(` ${Math.round((performance.now() - this.#began) / 1_000)} s`);
  }
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
