import { type InstalledPackage, installPackage } from "../packaging/install.js";

/** The package, with the clients that who runs several processes has installed beside it. */
export async function installedForReplicas(): Promise<InstalledPackage> {
  const installed = await installPackage();
  for (const name of ["pg", "ioredis", "@qdrant/js-client-rest"]) await installed.link(name);
  return installed;
}
