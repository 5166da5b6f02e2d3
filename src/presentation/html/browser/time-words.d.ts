export interface TimeWords {
  write(show: string, at: number, now: number): string;
  zoneName: string;
}
export function createTimeWords(timeZone: string, locale: string | undefined): TimeWords;
export function durationText(ms: number): string;
