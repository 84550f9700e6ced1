import { type InstalledPackage, installPackage } from "../packaging/install.js";
import { FIRESTORE_EMULATOR_JAR } from "../support/firestore-emulator.js";

/** The package, with the clients that who runs several processes has installed beside it. */
export async function installedForReplicas(): Promise<InstalledPackage> {
  const installed = await installPackage();
  const clients = ["pg", "ioredis", "@qdrant/js-client-rest", ...(FIRESTORE_EMULATOR_JAR === undefined ? [] : ["@google-cloud/firestore"])];
  for (const name of clients) await installed.link(name);
  return installed;
}
