import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, longest first: begun last, they would be waited for alone. The others follow by size. */
const LONG = [
  "replicas/replicas",
  "faults/state-services",
  "state/stores-on-firestore",
  "state/stores-on-cosmos",
  "domains/limits",
  "crash/kills",
  "faults/turn",
  "faults/recall",
  "cli-e2e/cli",
  "faults/outage",
  "crash/erasure",
  "crash/half-emptied",
  "crash/planted-bugs",
  "e2e/processes",
  "cli/process",
  "planted/planted-bugs",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
