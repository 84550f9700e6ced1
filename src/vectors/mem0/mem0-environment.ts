import { makeDirectory } from "../../platform/file-system.js";

/**
 * Loads `mem0ai/oss`. It reads two variables of the process and takes no option in their place, so that they have to be set
 * before its first import: telemetry off (it is on by default, and awaited on every call), and `MEM0_DIR`, where it keeps a
 * random id for itself, in the storage directory instead of the user's home. This is the only file but the configuration that
 * touches the process environment, and the only one that imports Mem0.
 *
 * @param dir made when it is not there
 */
export async function loadMem0(dir: string): Promise<typeof import("mem0ai/oss")> {
  process.env.MEM0_TELEMETRY = "false";
  process.env.MEM0_DIR = dir;
  await makeDirectory(dir);
  return import("mem0ai/oss");
}
