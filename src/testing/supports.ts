import { test } from "vitest";

/** What a backend says of itself. What it leaves out it does; of what it doesn't do the tests are skipped, by name and with the reason. */
export type Supports<Feature extends string> = Readonly<Partial<Record<Feature, boolean>>>;

export interface ContractOptions<Feature extends string> {
  readonly supports?: Supports<Feature>;
}

/** A test of what not every backend has to do. */
export function optionalTests<Feature extends string>(
  supports?: Supports<Feature>,
): (feature: Feature) => (name: string, run: () => Promise<void>) => void {
  return (feature) => (name, run) => {
    if (supports?.[feature] !== false) test(name, run);
    else test(name, ({ skip }) => skip(`not supported: ${feature}`));
  };
}
