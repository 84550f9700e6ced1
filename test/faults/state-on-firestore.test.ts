import { failingFirestore } from "./failing-engines.js";
import { whileItFails } from "./state-service.js";

// By itself, beside the others: its client asks again for as long as a call may take.
whileItFails([{ part: "State in Firestore", program: "firestore", open: failingFirestore }]);
