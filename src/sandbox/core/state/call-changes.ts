import type { Call } from './call.ts';

/** `redirected`: it was given another course than its own. */
export type CallChange = 'queued' | 'dialed' | 'answered' | 'ended' | 'analysed' | 'redirected';

/** Told at the instant of service time at which it happened, in the order in which things happened. */
export type CallListener = (call: Call, change: CallChange, at: number) => void;
