<?php
namespace Notes;

final class Note {}
