/** Times of day as `HH:MM` on the clock of the person called. */
export interface CallingHours {
  start: string;
  /** `24:00` for midnight. */
  end: string;
}

/** What the conduct report holds a caller to. */
export interface ConductLimits {
  /** A number accepted again within this many service seconds counts as dialled twice. Default 60. */
  redialWithinSeconds: number;
  /** A conversation read again within this many service seconds counts as polled too fast. Default 1. */
  minReadIntervalSeconds: number;
  /** Requests that may be in progress at once. Default: as the plan says. */
  maxParallelRequests: number;
  /** Dials of one number within 24 service hours. Default 10. */
  maxDialsPerDay: number;
  /** Between which times people may be called; null (the default) for no such rule. */
  callingHours: CallingHours | null;
}
