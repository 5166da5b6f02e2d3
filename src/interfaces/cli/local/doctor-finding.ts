import { codeOf } from '../../../shared/input/errors.ts';

/** One thing that `carillon doctor` looked at. A fault keeps Carillon from working; a warning does not. */
export interface Finding {
  name: string;
  status: 'ok' | 'warning' | 'fault';
  /** What was found; never a key, a password or a phone number. */
  detail: string;
  /** What to do about it; null when all is well. */
  advice: string | null;
}

export function ok(name: string, detail: string): Finding {
  return { name, status: 'ok', detail, advice: null };
}

export function warning(name: string, detail: string, advice: string): Finding {
  return { name, status: 'warning', detail, advice };
}

export function fault(name: string, detail: string, advice: string): Finding {
  return { name, status: 'fault', detail, advice };
}

/** The first line of what an error says, or its code where it says nothing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message.split('\n')[0] || (codeOf(error) ?? error.name);
}
