/** So many points of a partition are looked through in less time, and lie in less room, than what finds them in many takes to be kept. */
export const FEW_POINTS = 128;
