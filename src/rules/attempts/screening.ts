/** Verdict of the pre-dial hook on one call. */
export type ScreeningVerdict =
  | { kind: 'eligible' }
  /** Permanent; `code` is the hook's own, or null. */
  | { kind: 'refused'; code: string | null }
  | { kind: 'later'; afterMs: number };

/** An answer is valid for this long (service time); then the hook is asked again. */
export const screenedForMs = 15 * 60_000;

/** An answer of this age is renewed before it expires between request and dial. */
const askAgainAfterMs = 10 * 60_000;

/** Minimum "later", so that a hook is not asked in a loop. */
export const shortestLaterMs = 60_000;

/** Stored form of an answer: `eligible`, the reason of an outcome, or when to ask again. */
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

/** The hook's stored answer; `screenedAt` is epoch ms, service time. */
export interface Screened {
  /** As `writeScreening` returned it; null: never asked. */
  screened: string | null;
  screenedAt: number | null;
}

/** Whether the hook must be asked, or asked again. */
export function needsScreening({ screened, screenedAt }: Screened, now: number): boolean {
  return screened === null || screenedAt === null || now - screenedAt >= askAgainAfterMs;
}

/** What the hook's answer allows at an instant; `until` is service time. */
export type ScreeningStand =
  | { kind: 'dial' }
  | { kind: 'refused'; reason: string }
  | { kind: 'later'; until: number }
  /** Never asked, or the answer expired. */
  | { kind: 'unasked' };

/** Whether the hook allows a dial; only a fresh `eligible` does. */
export function evaluateScreening({ screened, screenedAt }: Screened, now: number): ScreeningStand {
  if (screened === null || screenedAt === null) return { kind: 'unasked' };
  if (screened === 'eligible') return now - screenedAt <= screenedForMs ? { kind: 'dial' } : { kind: 'unasked' };
  const later = /^later:(\d+)$/.exec(screened)?.[1];
  return later === undefined ? { kind: 'refused', reason: screened } : { kind: 'later', until: Number(later) };
}
