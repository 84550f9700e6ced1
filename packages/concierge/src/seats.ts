/** How many seats are booked at once, at most. */
export const MAX_SEATS = 20;

export function isBookable(seats: number): boolean {
  return Number.isInteger(seats) && seats >= 1 && seats <= MAX_SEATS;
}
