import { keptFor, windowsOf, type CallerLimits } from '../caller-choice.ts';
import { fairShares } from './fair-share.ts';

/** A campaign's use of a shared caller number. Instants are service time. */
export interface CallerUser {
  id: string;
  weight: number;
  limits: CallerLimits | undefined;
  /** Recipients that it could call from the number now. */
  due: number;
  /** Planned calls from the number, not requested yet. */
  planned: number;
  /** When its calls from the number rang, or may ring at the latest. */
  rings: readonly number[];
  /** Due instants of its callbacks from the number. */
  promised: readonly number[];
  /** False while it cannot begin another call, even if the number allows one. */
  isFree: boolean;
}

/** A campaign that leaves a free number unused for this long has passed its turn (service time). */
const turnMs = 5 * 60_000;

/**
 * Calls other than callbacks that one user may begin; `rings`: all calls of the number. Windows are shared by weight among campaigns with
 * due recipients, one call each first. All keep the limits of the strictest; otherwise it would never find the number free.
 */
export function sharedCapacity(
  asker: CallerUser,
  { users, rings, now }: { users: readonly CallerUser[]; rings: readonly number[]; now: number },
) {
  const wanting = users.filter(({ due, planned }) => due + planned > 0);
  let capacity = Infinity;
  for (const { limits } of wanting) {
    for (const stretch of limits === undefined ? [] : windowsOf(limits))
      capacity = Math.min(capacity, shareOf(asker, stretch, { wanting, rings, now }));
  }
  // A callback needs capacity under its own campaign's limits.
  for (const { id, limits, promised: callbacks } of users)
    if (id !== asker.id && limits !== undefined) capacity = Math.min(capacity, keptFor(limits, rings, now, callbacks));
  return Math.max(0, capacity);
}

function shareOf(
  asker: CallerUser,
  { most, ms }: { most: number; ms: number },
  { wanting, rings, now }: { wanting: readonly CallerUser[]; rings: readonly number[]; now: number },
): number {
  const madeBy = (user: CallerUser): number => user.rings.filter((at) => at > now - ms).length;
  const within = rings.filter((at) => at > now - ms).length;
  const madeByOthers = within - wanting.reduce((sum, user) => sum + madeBy(user), 0);
  const limit = Math.max(0, most - madeByOthers);
  const demands = wanting.map((user) => ({ id: user.id, weight: user.weight, lines: madeBy(user) + user.planned + user.due, tookAt: 0 }));
  // Less than one call each: they take turns, so that the lightest gets its turn, too.
  const shares = wanting.length >= limit ? new Map(wanting.map(({ id }) => [id, 1])) : fairShares(limit, demands);
  const left = (user: CallerUser): number => (shares.get(user.id) ?? 0) - madeBy(user) - user.planned;
  const unused = most - within;
  const freeSince = (rings.toSorted((a, b) => b - a)[most - 1] ?? -Infinity) + ms;
  const isBefore = (user: CallerUser): boolean => (lastRing(user) - lastRing(asker) || (user.id < asker.id ? -1 : 1)) < 0;
  const before =
    now - freeSince > turnMs ? [] : wanting.filter((user) => user.id !== asker.id && user.isFree && left(user) > 0 && isBefore(user));
  return Math.min(left(asker), unused - before.length);
}

/** 0: no call yet. */
function lastRing({ rings }: CallerUser): number {
  return rings.reduce((last, at) => Math.max(last, at), 0);
}
