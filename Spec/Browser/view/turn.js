// How each EXIF orientation moves a point whose coordinates count from the middle of the stored picture.

const TURNS = [
    [1, 0, 0, 1], [-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, -1], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, -1, 0], [0, 1, -1, 0],
];

/** The matrix [xx, xy, yx, yy] that turns a stored picture upright. */
export const turnOf = orientation => TURNS[orientation - 1];
