import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, longest first: begun last, they would be waited for alone. The others follow by size. */
const LONG = [
  "replicas/replicas",
  "replicas/erasure",
  "replicas/suspended",
  "replicas/merges",
  "faults/state-on-firestore",
  "faults/start-services",
  "faults/state-services",
  "faults/outage",
  "faults/turn",
  "faults/recall",
  "crash/kills",
  "crash/event-kills",
  "packaging/snippets",
  "planted/planted-bugs",
  "cli-e2e/cli",
  "docs/site",
  "web/studio.browser",
  "reading/adversarial-doors",
  "state/stores-on-firestore",
  "state/turns/once-anywhere",
  "crash/erasure",
  "e2e/examples",
  "packaging/applications",
  "ecosystem/one-handle",
  "state/stores-on-cosmos",
  "cli/process",
  "e2e/processes",
  "crash/half-emptied",
  "crash/planted-bugs",
  "domains/limits",
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
