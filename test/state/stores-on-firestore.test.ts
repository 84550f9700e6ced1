import { needing } from "../support/needing.js";
import { storesOver } from "./stores-over.js";

needing("firestore")("stores over Firestore", () => storesOver("Firestore"));
