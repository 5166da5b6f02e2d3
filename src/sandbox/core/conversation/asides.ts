import type { Language } from '../world/language.ts';

type Lines = readonly [string, ...string[]];

/** What people say to themselves in between. No words in it that would pass for an answer, a refusal or an opt-out. */
export const asides: Readonly<Record<Language, Lines>> = {
  en: [
    'One moment, please.',
    'Let me find something to write with.',
    'I had a pen here a minute ago.',
    'It is a bit of a mess on this table, I am afraid.',
    'Let me close the window, it is loud out there.',
    'There, now I hear you better.',
    'Where did I put my glasses?',
    'Right, I have a sheet of paper.',
    'I am writing this down, so that I remember it.',
    'The dog wants to go out, it has to wait a little.',
    'Let me sit down for this.',
    'So, I am with you again.',
  ],
  es: [
    'Un momento, por favor.',
    'Voy a buscar algo para escribir.',
    'Tenía aquí un bolígrafo hace un minuto.',
    'Esta mesa está un poco desordenada.',
    'Voy a cerrar la ventana, hay mucho ruido fuera.',
    'Así le oigo mejor.',
    '¿Dónde he puesto las gafas?',
    'Bien, aquí tengo una hoja de papel.',
    'Lo estoy apuntando, para acordarme.',
    'El perro quiere salir, tiene que esperar un poco.',
    'Déjeme que me siente.',
    'Bueno, ya estoy otra vez con usted.',
  ],
  de: [
    'Einen Moment, bitte.',
    'Ich suche mir schnell etwas zum Schreiben.',
    'Gerade lag hier doch noch ein Stift.',
    'Auf diesem Tisch herrscht ein ziemliches Durcheinander.',
    'Ich mache das Fenster zu, draußen ist es laut.',
    'So, jetzt höre ich Sie besser.',
    'Wo habe ich denn meine Brille hingelegt?',
    'Gut, hier habe ich ein Blatt Papier.',
    'Ich schreibe mir das auf, damit ich daran denke.',
    'Der Hund will hinaus, er muss ein wenig warten.',
    'Ich setze mich eben hin.',
    'So, da bin ich wieder.',
  ],
  fr: [
    'Un instant, s’il vous plaît.',
    'Je cherche de quoi écrire.',
    'J’avais un stylo ici il y a une minute.',
    'Cette table est un peu en désordre.',
    'Je ferme la fenêtre, il y a du bruit dehors.',
    'Voilà, je vous entends mieux.',
    'Où ai-je mis mes lunettes ?',
    'Bon, j’ai une feuille de papier.',
    'Je le note, pour m’en souvenir.',
    'Le chien veut sortir, il attendra un peu.',
    'Je m’assieds un moment.',
    'Voilà, je suis de nouveau à vous.',
  ],
};

/** What an answering machine says after its announcement. */
export const instructions: Lines = [
  'When you have finished recording, you may simply hang up.',
  'To listen to your message, press one.',
  'To record it again, press two.',
  'To hear these choices once more, press three.',
];
