/** What the pre-dial hook says of one call. */
export type ScreeningVerdict =
  | { kind: 'eligible' }
  /** For good; the code is the hook's own word for it, or null. */
  | { kind: 'refused'; code: string | null }
  | { kind: 'later'; afterMs: number };

/** An answer is good for this long, in service time: whoever is not dialled by then is asked about again. */
export const screenedForMs = 15 * 60_000;

/** An answer of this age is asked for anew, so that it does not go bad between the question and the dial. */
const askAgainAfterMs = 10 * 60_000;

/** A hook that says "later" cannot have the same people asked about in a circle. */
export const shortestLaterMs = 60_000;

/** What the ledger keeps of an answer: `eligible`, the reason of an outcome, or from when on to ask again. */
export function writeScreening(verdict: ScreeningVerdict, askedAt: number): string {
  switch (verdict.kind) {
    case 'eligible':
      return 'eligible';
    case 'refused':
      return verdict.code === null ? 'pre_dial_refused' : `pre_dial:${verdict.code}`;
    case 'later':
      return `later:${askedAt + Math.max(shortestLaterMs, verdict.afterMs)}`;
  }
}

/** The hook's stored answer about one attempt; `screenedAt` is epoch milliseconds in service time. */
export interface Screened {
  /** As `writeScreening` wrote it; null: never asked. */
  screened: string | null;
  screenedAt: number | null;
}

/** Whether the hook is to be asked, or asked again. */
export function needsScreening({ screened, screenedAt }: Screened, now: number): boolean {
  return screened === null || screenedAt === null || now - screenedAt >= askAgainAfterMs;
}

/** What the hook's answer allows at an instant; `until` is service time. */
export type ScreeningStand =
  | { kind: 'dial' }
  | { kind: 'refused'; reason: string }
  | { kind: 'later'; until: number }
  /** Not asked, or too long ago. */
  | { kind: 'unasked' };

/** Whether somebody may be dialled as far as the hook is concerned. Only an `eligible` that is fresh allows it. */
export function judgeScreening({ screened, screenedAt }: Screened, now: number): ScreeningStand {
  if (screened === null || screenedAt === null) return { kind: 'unasked' };
  if (screened === 'eligible') return now - screenedAt <= screenedForMs ? { kind: 'dial' } : { kind: 'unasked' };
  const later = /^later:(\d+)$/.exec(screened)?.[1];
  return later === undefined ? { kind: 'refused', reason: screened } : { kind: 'later', until: Number(later) };
}
