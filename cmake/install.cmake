# Installation. (follows)
