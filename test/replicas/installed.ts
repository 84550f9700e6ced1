import { type InstalledPackage, installPackage } from "../packaging/install.js";
import { HAS_COSMOS } from "../support/cosmos-server.js";
import { FIRESTORE_EMULATOR_JAR } from "../support/firestore-emulator.js";

/** The package, with the clients that who runs several processes has installed beside it. */
export async function installedForReplicas(): Promise<InstalledPackage> {
  const installed = await installPackage();
  const firestore = FIRESTORE_EMULATOR_JAR === undefined ? [] : ["@google-cloud/firestore"];
  const clients = ["pg", "ioredis", "@qdrant/js-client-rest", ...firestore, ...(HAS_COSMOS ? ["@azure/cosmos"] : [])];
  for (const name of clients) await installed.link(name);
  return installed;
}
