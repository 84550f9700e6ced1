import { test } from "vitest";

/**
 * What a backend says of itself. What it leaves out, or says `true` of, it does. Of what it doesn't do (`false`, or better the reason, in
 * words) the tests are skipped, and the skip names the feature and the reason.
 */
export type Supports<Feature extends string> = Readonly<Partial<Record<Feature, boolean | string>>>;

export interface ContractOptions<Feature extends string> {
  readonly supports?: Supports<Feature>;
}

export function isSupported<Feature extends string>(supports: Supports<Feature> | undefined, feature: Feature): boolean {
  return (supports?.[feature] ?? true) === true;
}

/** A test of what not every backend has to do. */
export function optionalTests<Feature extends string>(
  supports?: Supports<Feature>,
): (feature: Feature) => (name: string, run: () => Promise<void>) => void {
  return (feature) => (name, run) => {
    const said = supports?.[feature];
    if (isSupported(supports, feature)) test(name, run);
    else test(name, ({ skip }) => skip(`not supported: ${feature}${typeof said === "string" ? ` (${said})` : ""}`));
  };
}
