export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function unixSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1000);
}
