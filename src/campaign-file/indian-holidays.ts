/**
 * Holidays of India by moon and sun that the library does not know, as its rules: those that offices of the central government keep
 * everywhere, and Holi, Rama Navami and Janmashtami. Days of the Islamic calendar are two each, since the moon decides. The others are by
 * the almanac, which the government's list may differ from by a day: it appears in the summer before its year.
 */
export const indianHolidays: readonly (readonly [rule: string, name: string])[] = [
  ['1 Shawwal P2D', 'Id-ul-Fitr'],
  ['10 Dhu al-Hijjah P2D', 'Id-ul-Zuha'],
  ['10 Muharram P2D', 'Muharram'],
  ['12 Rabi al-awwal P2D', 'Milad-un-Nabi'],
  ...dates('Holi', '2026-03-04 2027-03-22 2028-03-11 2029-03-01 2030-03-20'),
  ...dates('Rama Navami', '2026-03-26 2027-04-15 2028-04-03 2029-04-22 2030-04-12'),
  ...dates('Mahavir Jayanti', '2026-03-31 2027-04-18 2028-04-07 2029-04-26 2030-04-16'),
  ...dates('Buddha Purnima', '2026-05-01 2027-05-20 2028-05-08 2029-05-27 2030-05-17'),
  ...dates('Janmashtami', '2026-09-04 2027-08-25 2028-08-13 2029-09-01 2030-08-21'),
  ...dates('Dussehra', '2026-10-20 2027-10-09 2028-09-27 2029-10-16 2030-10-06'),
  ...dates('Diwali', '2026-11-08 2027-10-29 2028-10-17 2029-11-05 2030-10-26'),
  ...dates('Guru Nanak Jayanti', '2026-11-24 2027-11-14 2028-11-02 2029-11-21 2030-11-10'),
];

function dates(name: string, days: string): [string, string][] {
  return days.split(' ').map((day) => [day, name]);
}
