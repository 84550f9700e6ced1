import { spawnSync } from "node:child_process";

export interface NodeProgram {
  readonly path: string;
  readonly version: string;
  readonly major: number;
}

export const thisNode: NodeProgram = nodeOf(process.execPath, process.versions.node);

/** The Node that runs this, and a newer one where there is one: by the variable NODE24, or as `node24` or `node` on the PATH. */
export function nodePrograms(named = process.env.NODE24): readonly NodeProgram[] {
  const others = [named, "node24", "node"].flatMap((path) => {
    if (path === undefined || path === "") return [];
    const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
    return status === 0 ? [nodeOf(path, stdout.trim().slice(1))] : [];
  });
  return [thisNode, ...others.filter(({ major }) => major > thisNode.major)];
}

function nodeOf(path: string, version: string): NodeProgram {
  return { path, version, major: Number(version.split(".")[0]) };
}
